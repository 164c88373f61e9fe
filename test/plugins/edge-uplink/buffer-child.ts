import { DiskBuffer } from '../../../plugins/edge-uplink/buffer/disk-buffer.ts';
import { bench } from './buffer-bench.ts';

// Puts records without end, and says of each that it is durable, until somebody kills it.
const { scope, clock } = bench();
const buffer = await DiskBuffer.open({
  folder: process.argv[2]!,
  clock,
  scope,
  maxBytes: 64 * 1024 * 1024,
});
for (let number = Number(process.argv[3]); ; number++) {
  await buffer.put(
    'logs',
    { to: '/loki/api/v1/push', type: 'application/json', items: 1 },
    Buffer.from(`${number} ${'x'.repeat(20_000)}`),
    true,
  );
  // Handed over before the next one: what waits in this process dies with it.
  await new Promise((taken) => process.stdout.write(`${number}\n`, taken));
}
