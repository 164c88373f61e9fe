import type { UpgradeOrder } from 'svc/edge-protocol';
import { agentProgram, pretender, type rig } from './rig.ts';

type Offer = Awaited<ReturnType<typeof rig>>['offer'];

export interface BadPayload {
  readonly name: string;
  readonly make: (offer: Offer) => UpgradeOrder;
  readonly reason: RegExp;
  readonly state?: 'rolled_back';
  /** Remaining entries of the folder of versions. */
  readonly leaves?: readonly string[];
}

const good = agentProgram('2.0.0');

export const badPayloads: readonly BadPayload[] = [
  {
    name: 'another digest',
    make: (offer) => offer(good, { sha256: 'a'.repeat(64) }),
    reason: /has the SHA-256 [0-9a-f]{64}, which does not match the one in the upgrade request/,
  },
  {
    name: 'signed by nobody we know',
    make: (offer) => offer(good, { signature: `${'A'.repeat(86)}==` }),
    reason: /release key/,
  },
  {
    name: 'cut short',
    make: (offer) =>
      offer(good, {}, (response) => {
        response.writeHead(200, { 'content-length': good.length });
        response.write(good.slice(0, 50), () => void response.destroy());
      }),
    reason: /was lost during the download of the package/,
    leaves: ['.new'],
  },
  {
    name: 'a web page',
    make: (offer) =>
      offer(
        good,
        {},
        (response) =>
          void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sorry</h1>'),
      ),
    reason: /a web page/,
  },
  {
    name: 'ends with 1',
    make: (offer) => offer('#!/bin/sh\necho no libc >&2\nexit 1\n'),
    reason: /self-test of the new version ended with 1: no libc/,
  },
  {
    name: 'hangs',
    make: (offer) => offer(pretender('2.0.0', 'exec sleep 600')),
    reason: /was not healthy within \d+ seconds/,
    state: 'rolled_back',
  },
  {
    name: 'cannot reach the manager',
    make: (offer) =>
      offer(agentProgram('2.0.0', 'AGENT_MANAGER=http://127.0.0.1:1; export AGENT_MANAGER')),
    reason: /self-test of the new version ended with 3: .*127\.0\.0\.1:1/,
  },
  {
    name: 'meets a full disk',
    make: (offer) => offer(Buffer.alloc(3_000_000, 'svc')),
    reason: /EFBIG|ENOSPC|MiB left/,
  },
];
