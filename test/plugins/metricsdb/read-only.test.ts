import assert from 'node:assert/strict';
import { test } from 'node:test';

import { peer } from '../../peers.ts';
import { startPrometheus } from '../connected-stores/fleet.ts';
import { metricsHouse, rows } from './house.ts';

test("Debian's Prometheus as it comes: the test says that it is not accepting samples and what to do, and no sender is blamed", async (t) => {
  const program = peer(t, 'prometheus');
  if (program === undefined) {
    return;
  }
  const empty = { targets: [], say: () => undefined, stop: () => Promise.resolve() };
  const { url } = await startPrometheus(t, program, empty);
  const { house, call, ingest } = await metricsHouse(t, {
    environment: { SVC_METRICSDB_URL: url },
    plugins: ['host'],
  });
  const told = async (address: string | undefined) =>
    (
      await call(
        '/api/v1/integrations/metricsdb/test',
        address === undefined ? {} : { url: address },
      )
    ).body;
  for (const address of [undefined, url]) {
    const { ok, code, detail } = await told(address);
    assert.deepEqual([ok, code], [false, 'read_only']);
    assert.match(
      detail,
      /reading works, but writing is refused .*--web\.enable-remote-write-receiver$/,
    );
  }
  await assert.rejects(ingest.write(rows({ __name__: 'up', job: 'a' }, [1], Date.now())), {
    code: 'unavailable',
    message: /is not accepting samples at the moment.*--web\.enable-remote-write-receiver/,
  });
  const health = await (await house.fetch('/api/v1/health')).text();
  assert.match(health, /is not accepting samples.*--web\.enable-remote-write-receiver/);

  const taking = await startPrometheus(t, program, empty, ['--web.enable-remote-write-receiver']);
  const { ok, detail } = await told(taking.url);
  assert.deepEqual(
    [ok, detail.endsWith('answers; a sample was written and read')],
    [true, true],
    detail,
  );
});
