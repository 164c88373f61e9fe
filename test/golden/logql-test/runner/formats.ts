import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from 'svc/sdk';

import { layOut, parse } from '../../../../plugins/logs/logql/index.ts';
import type { Judged } from './stage-tables.ts';

/** What Loki's tests of its formatter hold for a line. */
const width = 20;

/** The cases of Loki's own tests of `format_query`. */
export function formats(loki: string): Judged[] {
  const source = readFileSync(join(loki, 'pkg/logql/syntax/prettier_test.go'), 'utf8');
  const cases = [...source.matchAll(/name:\s*"([^"]*)",[^\n]*\n\s*in:\s*`([^`]*)`,\s*exp:\s*`([^`]*)`/g)];
  return cases.map(([, name, query, wanted]) => {
    try {
      const found = layOut(parse(query!), width);
      return found === wanted ? { name: `format: ${name!}` } : { name: `format: ${name!}`, wrong: `\n${found}\ninstead of\n${wanted!}` };
    } catch (error) {
      return { name: `format: ${name!}`, wrong: messageOf(error) };
    }
  });
}
