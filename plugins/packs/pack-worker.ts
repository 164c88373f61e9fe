import { servePack } from './inside/serve-pack.ts';

servePack();
