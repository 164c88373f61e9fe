import { serveParser } from './uploads/parse-file.ts';

void serveParser();
