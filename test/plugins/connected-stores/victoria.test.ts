import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MetricsQueries } from 'svc/contracts/metricsdb';
import { startTestHost, useNoLeaks } from 'svc/testing';

import { peer } from '../../peers.ts';
import { scraped, startFleet, startVictoria } from './fleet.ts';

test(
  'a real VictoriaMetrics brings its hosts as well, without a password in what is shown of it',
  { timeout: 120_000 },
  async (t) => {
    const [victoria, exporter] = [peer(t, 'victoria-metrics'), peer(t, 'prometheus-node-exporter')];
    if (victoria === undefined || exporter === undefined) {
      return;
    }
    const fleet = await startFleet(t, exporter);
    fleet.say('web-2', 'queue_length{queue="mail"} 7\n');
    const url = await startVictoria(t, victoria, fleet);
    await scraped(url, 'rate(node_cpu_seconds_total{mode="idle",cpu="0"}[1m])', 1);
    await scraped(url, 'node_uname_info', 3);
    const house = await startTestHost(t, {
      plugins: ['device', 'metricsdb', 'connected-stores'],
      environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
    });
    useNoLeaks(t, house);
    const draft = {
      name: 'victoria',
      url: `${url}/`,
      user: 'reader',
      password: 'very-secret',
      host_rules: [{ label: 'host', regex: '(.+)-(\\d+)', template: '$1$2.example.org' }],
      copied: ['queue_length'],
    };
    const connected = await house.json('/api/v1/connected-stores', {
      method: 'POST',
      body: JSON.stringify(draft),
    });
    assert.deepEqual(
      [connected.state, connected.hosts, connected.has_credentials, connected.url],
      ['ok', 3, true, url],
      connected.detail,
    );
    assert.doesNotMatch(JSON.stringify(connected), /very-secret|reader/);
    const { items } = await house.json('/api/v1/devices');
    const ids = new Map<string, string>(
      items.map(({ id, display_name: name }: { id: number; display_name: string }) => [
        name,
        String(id),
      ]),
    );
    assert.deepEqual([...ids.keys()].toSorted(), [
      'db1.example.org',
      'web1.example.org',
      'web2.example.org',
    ]);
    const answer = async (query: string) => {
      const found = await house.service(MetricsQueries).instant(query, Date.now());
      assert.equal(found.type, 'vector');
      return found.labels.map(({ device_id: id }, at) => [id, found.values[at]]);
    };
    assert.deepEqual(await answer('queue_length'), [[ids.get('web2.example.org'), 7]]);
    assert.deepEqual(
      (await answer('node_cpu_usage_percent')).map(([id]) => id),
      [ids.get('web1.example.org')],
    );

    const refused = async (change: object): Promise<string> => {
      const reply = await house.fetch('/api/v1/connected-stores/victoria', {
        method: 'PATCH',
        body: JSON.stringify(change),
      });
      return `${reply.status} ${await reply.text()}`;
    };
    assert.match(await refused({ host_rules: [{ label: 'a', regex: '(' }] }), /^400 .*label a/);
    assert.match(await refused({ url: 'http://127.0.0.1:9' }), /^502 .*refused; check/);

    const gone = await house.fetch('/api/v1/connected-stores/victoria', { method: 'DELETE' });
    assert.equal(gone.status, 204);
    const left = await house.json('/api/v1/devices');
    assert.deepEqual(
      left.items.map(({ online, reported_by: by }: { online: boolean; reported_by: string[] }) => [
        online,
        by,
      ]),
      [
        [false, []],
        [false, []],
        [false, []],
      ],
      'its devices stay',
    );
  },
);
