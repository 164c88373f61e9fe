import { writeSync } from 'node:fs';

import { startTestHost } from 'svc/testing';

import { stormStore } from './alert-kills-model.ts';

const [dataDir, hook, calm] = process.argv.slice(2) as [string, string, string];
const environment = {
  SVC_ALERT_EVAL_INTERVAL: '1s',
  SVC_ALERT_COOLDOWN: '0s',
  SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
  SVC_NOTIFY_WEBHOOK_URL: hook,
};

/** Host in a storm, until it is killed; a calm one reports when nothing is left to do. */
const house = await startTestHost(
  { after: () => undefined },
  {
    plugins: ['alert', 'notify'],
    dataDir,
    environment,
    services: { 'metrics.queries': stormStore(calm === 'calm') },
  },
);
const { total } = await house.json<{ total: number }>('/api/v1/alert-rules?q=storm&limit=1');
for (let rule = total; rule < 3; rule++) {
  await house.json('/api/v1/alert-rules', {
    method: 'POST',
    body: JSON.stringify({
      rule_key: `storm_${rule}`,
      name: `storm ${rule}`,
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type: 'host',
      join_mode: 'all',
      severity: 'warning',
      conditions: [{ expr: `storm_${rule} > 0` }],
    }),
  });
}
writeSync(1, `${house.url} ${house.token}\n`);
