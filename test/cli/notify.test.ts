import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { scratch, serving, svc } from './launcher.ts';

test(
  '"svc notify resend" tries what a channel could not be sent, and "svc channel" adds and tests one',
  { timeout: 180_000 },
  async (t) => {
    let status = 403;
    const told: string[] = [];
    const platform = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => (text += String(chunk)));
      request.on('end', () => {
        told.push(...(status === 200 ? [text] : []));
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve));
    t.after(() => platform.close());
    const env = { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1', SVC_ALERT_EVAL_INTERVAL: '5s' };
    const here = await serving(t, join(scratch(t), 'data'), { env });
    const post = async (path: string, body: object): Promise<{ id: number }> => {
      const headers = { authorization: `Bearer ${here.token}`, 'content-type': 'application/json' };
      const answer = await fetch(here.url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      assert.equal(answer.status, 201, await answer.clone().text());
      return (await answer.json()) as { id: number };
    };
    const notify = (...args: string[]) => svc(['notify', ...args, '--data', here.dataDir]);
    const endpoint = `http://127.0.0.1:${(platform.address() as AddressInfo).port}/`;
    const { id } = await post('/api/v1/notification-channels', {
      name: 'on call',
      channel_type: 'webhook',
      endpoint,
      group_by: [],
      group_wait: '1s',
      // Not what this machine has to say of itself meanwhile.
      match_labels: { kind: 'fruit' },
    });
    for (const name of ['apples', 'pears']) {
      await post('/api/v1/alert-rules', {
        rule_key: name,
        name,
        kind: 'metric_raw',
        source_type: 'svc_builtin',
        scope_type: 'global',
        join_mode: 'all',
        severity: 'critical',
        conditions: [{ expr: 'vector(1) > 0' }],
        labels: { kind: 'fruit' },
      });
    }
    const failed = async () =>
      (await notify('failed', '--channel', String(id), '--json')).json<{
        items: { attempts: number }[];
      }>().items;
    for (const deadline = Date.now() + 90_000; (await failed()).length < 2; await pause(500)) {
      assert.ok(Date.now() < deadline, here.said());
    }
    const refused = await notify('resend', String(id));
    assert.deepEqual([refused.code, refused.stdout], [0, 'retried  2\n'], refused.stderr);
    status = 200;
    for (const deadline = Date.now() + 60_000; (await failed()).length > 0; await pause(500)) {
      assert.ok(Date.now() < deadline, here.said());
      await notify('resend', String(id));
    }
    assert.ok(['apples', 'pears'].every((name) => told.some((text) => text.includes(name))));
    assert.equal((await notify('resend', String(id))).stdout, 'retried  0\n');
    assert.equal(
      (await notify('resend', 'on call')).stderr,
      'svc: use the number of the channel, as "svc notify failed" shows it\n',
    );

    const channel = (...args: string[]) => svc(['channel', ...args, '--data', here.dataDir]);
    const added = await channel('add', 'second', 'webhook', endpoint, '--severity', 'critical');
    const [, second = ''] = /^Created channel (\d+)\./.exec(added.stdout) ?? [];
    assert.equal(added.code, 0, added.stderr);
    assert.match((await channel('list')).stdout, new RegExp(`^${second} +second +webhook`, 'm'));
    const sent = await channel('test', second);
    assert.deepEqual([sent.code, /^result +sent$/m.test(sent.stdout)], [0, true], sent.stdout);
    status = 403;
    const unsent = await channel('test', second);
    assert.deepEqual(
      [unsent.code, /^result +failed$/m.test(unsent.stdout)],
      [1, true],
      unsent.stdout,
    );
  },
);
