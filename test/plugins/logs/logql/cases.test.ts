import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { casesOf } from './script.ts';

const folder = new URL('cases/', import.meta.url);

for (const file of readdirSync(folder).sort()) {
  for (const { name, run } of casesOf(readFileSync(new URL(file, folder), 'utf8'))) {
    test(`${file.replace('.txt', '')}: ${name}`, run);
  }
}
