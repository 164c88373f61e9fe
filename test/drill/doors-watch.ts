import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** What was seen of the server while something was sent to it. */
export interface Watched {
  readonly p99Ms: number;
  readonly slowestMs: number;
  readonly peakMb: number;
}

const everyMs = 5;
const [url, pid] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

let times: number[] = [];

/** A process of its own, as whoever sends 64 MB is busy: asks for /healthz all the time, and says what came of it. */
process.on('message', (word: 'begin' | 'end') => {
  if (word === 'begin') {
    times = [];
    // The peak begins anew.
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    process.send!({ beforeMb: memory('VmRSS') });
  } else {
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number): number =>
      Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
    process.send!({ p99Ms: at(0.99), slowestMs: at(1), peakMb: memory('VmHWM') } satisfies Watched);
  }
});

for (;;) {
  const began = performance.now();
  await healthz();
  const tookMs = performance.now() - began;
  times.push(tookMs);
  await pause(Math.max(0, everyMs - tookMs));
}

function healthz(): Promise<void> {
  return new Promise((resolve, reject) => {
    request(`${url}/healthz`, { agent }, (answer) => void answer.resume().on('end', resolve))
      .on('error', reject)
      .end();
  });
}

function memory(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)![1]) / 1_024;
}
