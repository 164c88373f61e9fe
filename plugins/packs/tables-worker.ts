import { serveTables } from './inside/serve-tables.ts';

serveTables();
