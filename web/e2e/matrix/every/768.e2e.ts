import { every } from '../matrix';

every(768);
