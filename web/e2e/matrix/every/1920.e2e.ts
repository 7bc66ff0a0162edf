import { every } from '../matrix';

every(1920);
