import { fork } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { DeviceDirectory } from 'svc/contracts/device';

import { rooms, shellHouse, until } from '../plugins/webshell/house.ts';

/** The service with its shells, in a process of its own: what it costs must not be what its browsers cost, nor the agent that leads to the SSH server. */
const [port, folder, isDirect] = [
  Number(process.argv[2]),
  process.argv[3]!,
  process.argv[4] === 'direct',
];
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const options = { dataDir: join(folder, 'data'), clock };
const shells = await shellHouse(
  { after: () => {} },
  () => port,
  isDirect ? options : { ...options, plugins: [...rooms, 'edge'], services: {} },
);
const { house } = shells;
const id = isDirect ? await shells.device(1) : await throughAgent();
await house.fetch('/api/v1/system-settings/webshell/recording_max_bytes', {
  method: 'PUT',
  body: JSON.stringify({ value: 1_073_741_824 }),
});
const loop = monitorEventLoopDelay({ resolution: 2 });
loop.enable();
process.on('message', () => {
  globalThis.gc?.();
  const anonymous = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
  process.send!({
    rssMb: Number(anonymous) / 1_024,
    cpu: process.cpuUsage(),
    loopP99: loop.percentile(99) / 1e6,
  });
  loop.reset();
});
process.on('disconnect', () => process.exit(0));
process.send!({ url: house.url, token: house.token, device: id });

/** Ends with this process, whose end it hears. */
async function throughAgent(): Promise<number> {
  const { body: made } = await shells.ask('POST', '/edges', undefined, { name: 'far' });
  const {
    id: edgeId,
    access_key,
    secret_key,
  } = made as { id: number; access_key: string; secret_key: string };
  const home = join(folder, 'agent');
  mkdirSync(home);
  const keys = {
    manager: house.url,
    tunnel_path: '/internal/tunnel',
    edge_id: edgeId,
    name: 'far',
    access_key,
    secret_key,
  };
  writeFileSync(join(home, 'edge.json'), JSON.stringify(keys));
  writeFileSync(join(home, 'policy.yaml'), `tcp: ["127.0.0.1:${port}"]\n`);
  fork(join(import.meta.dirname, 'webshell-agent.ts'), [home], { execArgv: ['--import', 'tsx'] });
  const directory = house.service(DeviceDirectory);
  await until(
    'the agent has told which machine it watches',
    async () => (await directory.deviceOf(edgeId)) !== undefined,
  );
  const device = (await directory.deviceOf(edgeId))!;
  await shells.ask('PATCH', `/devices/${device}`, undefined, { tags: { ssh_port: String(port) } });
  return device;
}
