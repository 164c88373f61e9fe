import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { shellHouse } from '../plugins/webshell/house.ts';

/** The service with its shells, in a process of its own: what it costs must not be what its browsers cost. */
const [port, dataDir] = [Number(process.argv[2]), process.argv[3]!];
const { device, house } = await shellHouse({ after: () => {} }, () => port, { dataDir, clock: { now: () => Date.now(), monotonic: () => performance.now() } });
const id = await device(1);
await house.fetch('/api/v1/system-settings/webshell/recording_max_bytes', { method: 'PUT', body: JSON.stringify({ value: 1_073_741_824 }) });
const loop = monitorEventLoopDelay({ resolution: 2 });
loop.enable();
process.on('message', () => {
  globalThis.gc?.();
  const anonymous = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
  process.send!({ rssMb: Number(anonymous) / 1_024, cpu: process.cpuUsage(), loopP99: loop.percentile(99) / 1e6 });
  loop.reset();
});
process.on('disconnect', () => process.exit(0));
process.send!({ url: house.url, token: house.token, device: id });
