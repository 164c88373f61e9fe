import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import type { Build, PluginContext, Tables } from 'svc/sdk';
import { startTestHost } from 'svc/testing';

import { LocalEdge, type LocalEdgeParts } from '../../../../plugins/edge/enrolment/local-edge.ts';
import { EdgeTable } from '../../../../plugins/edge/record/edge-table.ts';
import type { EdgeTables } from '../../../../plugins/edge/record/tables.ts';
import { agentsOf } from '../../../local-agents.ts';
import { around, until } from '../house.ts';

/** Stands for the agent, and stays. */
const agent = ['/bin/sh', '-c', 'sleep 300 & wait', 'agent'];

function folder(t: TestContext): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-local-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

test('the edge of this machine stays away once it was deleted, until its folder is removed', async (t) => {
  const dataDir = folder(t);
  const start = async () => {
    const house = await startTestHost(t, {
      plugins: ['programs', 'edge', 'device'],
      dataDir,
      agent,
    });
    return {
      ...around(house),
      house,
      said: (words: RegExp) => house.lines.some((line) => words.test(line)),
    };
  };
  const first = await start();
  await until('the agent runs', () => agentsOf(dataDir).length > 0);
  assert.equal((await first.ask('DELETE', '/edges/1')).status, 204);
  await until('it has ended', () => agentsOf(dataDir).length === 0);
  await first.house.stop();

  const second = await start();
  await until('it says why there is none', () =>
    second.said(/local agent not started: its edge was deleted/),
  );
  assert.deepEqual([agentsOf(dataDir), (await second.ask('GET', '/edges')).body.items], [[], []]);
  await second.house.stop();

  rmSync(join(dataDir, 'local-edge'), { recursive: true });
  const third = await start();
  await until('another agent runs', () => agentsOf(dataDir).length > 0);
  assert.equal((await third.ask('GET', '/edges')).body.total, 1);
  await third.house.stop();
  assert.deepEqual(agentsOf(dataDir), []);
});

test('a start that was killed before it kept the keys leaves no second edge behind', async (t) => {
  const dataDir = folder(t);
  const keys = join(dataDir, 'local-edge', 'edge.json');
  const start = async () => {
    const house = await startTestHost(t, {
      plugins: ['programs', 'edge', 'device'],
      dataDir,
      agent,
    });
    return { ...around(house), house };
  };
  const first = await start();
  await until('it has keys', () => existsSync(keys));
  const before = JSON.parse(readFileSync(keys, 'utf8')) as { edge_id: number; secret_key: string };
  await first.house.stop();
  rmSync(keys);

  const second = await start();
  await until('it has keys again', () => existsSync(keys));
  const after = JSON.parse(readFileSync(keys, 'utf8')) as typeof before;
  assert.equal(after.edge_id, before.edge_id);
  assert.notEqual(after.secret_key, before.secret_key);
  assert.equal((await second.ask('GET', '/edges')).body.total, 1);
  await second.house.stop();
});

test('an edge of this machine that is deleted in the instant of its enrolment gets no agent', async (t) => {
  const dataDir = folder(t);
  const row = {
    id: 1,
    name: 'here',
    access_key: 'svc_ak_1',
    device_id: null,
    host_info: null,
    conflict_since: null,
    only_machine: null,
  };
  // Whatever is asked, the tables of before the deletion answer.
  const answer = (rows: readonly object[]): object =>
    new Proxy(
      {},
      {
        get: (_, step) =>
          step === 'execute'
            ? async () => rows
            : step === 'executeTakeFirst'
              ? async () => rows[0]
              : () => answer(rows),
      },
    );
  const tables = {
    read: { selectFrom: (table: string) => answer(table === 'edge_edges' ? [row] : []) },
    write: (work: (tx: object) => unknown) => work({ selectFrom: () => answer([]) }),
  };
  const edgeTable = new EdgeTable({
    tables: tables as unknown as Tables<EdgeTables>,
    secrets: { open: () => '' },
    events: { written: () => undefined },
  });
  const edges = { insert: async () => ({ row, secretKey: 'svc_sk_1' }) };
  const deletedMeanwhile = {
    byId: (id: number) => edgeTable.byId(id),
    byAccessKey: (key: string) => edgeTable.byAccessKey(key),
    async reload(id: number) {
      const reading = edgeTable.reload(id);
      // As the route does once the row is gone.
      await Promise.resolve();
      edgeTable.drop(id);
      return await reading;
    },
  };
  const said: string[] = [];
  let begin = async (): Promise<void> => assert.fail('nothing is to begin');
  const ctx = {
    dataDir: join(dataDir, 'plugins/edge'),
    settings: { get: () => true },
    scope: { timeout: (_label: string, _ms: number, work: typeof begin) => (begin = work) },
    events: { on: () => undefined },
    log: { info: (_fields: object, words: string) => said.push(words) },
    services: {
      maybe: () => ({
        available: true,
        get: () => ({ start: () => assert.fail('no agent is started') }),
        onChange: () => undefined,
      }),
    },
  };
  const build = { agent, ownUrl: 'http://127.0.0.1:8080' } as unknown as Build;
  new LocalEdge(
    ctx as unknown as PluginContext,
    { build, edges, edgeTable: deletedMeanwhile, tables } as unknown as LocalEdgeParts,
  ).schedule();
  await begin();
  assert.match(said.join(), /local agent not started: its edge was deleted/);
  assert.equal(
    edgeTable.byId(1),
    undefined,
    'what was read before the deletion does not bring it back',
  );
});
