import { every } from '../matrix';

every(360);
