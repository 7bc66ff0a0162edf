import { every } from '../matrix';

every(320);
