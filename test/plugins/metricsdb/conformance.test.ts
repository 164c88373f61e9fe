import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { httpEngine } from '../../golden/promql-test/runner/http-engine.ts';
import { runScript } from '../../golden/promql-test/runner/run.ts';
import { metricsHouse } from './house.ts';

const cases = fileURLToPath(new URL('../../golden/promql-test/cases/', import.meta.url));
/** The store takes metric names of letters, digits, `_` and `:` alone. */
const otherNames = 'selectors.test';
/** Remarks that tell times differ: the data was moved to where a store takes it. */
const tellsTimes = /expected (?:info|warning) .*1970-01-01/;
const week = 7 * 86_400_000;
const ingest = existsSync(
  fileURLToPath(new URL('../../../plugins/ingest/plugin.json', import.meta.url)),
);

test(
  'over remote write, store, query API and JSON the language answers as it does by itself',
  { skip: !ingest },
  async (t) => {
    const { house, set } = await metricsHouse(t, { plugins: ['ingest'] });
    await set('retention', '9999d');
    await set('delayed_name_removal', true);
    const api = `${house.url}/prometheus/api/v1`;
    const wrong: string[] = [];
    let asked = 0;
    let epoch = Math.floor(Date.now() / week - 1_000) * week;
    for (const file of readdirSync(cases).filter(
      (name) => name.endsWith('.test') && name !== otherNames,
    )) {
      const text = readFileSync(cases + file, 'utf8');
      const engine = httpEngine({ query: api, write: `${api}/write`, epoch, token: house.token });
      for (const { line, expr, failed, skipped } of await runScript(text, engine)) {
        asked += skipped === undefined ? 1 : 0;
        if (failed !== undefined && !tellsTimes.test(failed)) {
          wrong.push(`${file}:${line} ${expr}: ${failed}`);
        }
      }
      epoch += (text.split('clear').length + 2) * week;
    }
    t.diagnostic(`${asked} questions`);
    assert.deepEqual(wrong, []);
    assert.ok(asked > 100);
  },
);
