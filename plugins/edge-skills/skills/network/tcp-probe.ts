import { connect } from 'node:net';

import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import type { After } from 'svc/probe';
import type { Clock } from 'svc/sdk';

import type { Address, ProbeRules } from '../../reach/probe-rules.ts';
import { plainText } from '../fit-rows.ts';
import { hostSchema, portSchema } from './host-schema.ts';

interface Params {
  readonly host: string;
  readonly port: number;
  readonly banner: boolean;
}

interface Outcome {
  readonly connected: boolean;
  readonly error: string | null;
  readonly connect_ms: number;
  readonly banner: string | null;
}

const [maxBanner, bannerMs] = [1_024, 1_000];

export const tcpProbe = (rules: ProbeRules, clock: Clock, after: After): EdgeSkill => ({
  key: 'tcp_probe',
  name: 'TCP connection',
  description:
    "Whether a port accepts connections from this machine, and how quickly; optionally also the server's greeting. Nothing is sent.",
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['host', 'port'],
    properties: {
      host: hostSchema,
      port: portSchema,
      banner: {
        type: 'boolean',
        default: false,
        description: "Wait up to one second for the server's greeting.",
      },
    },
  },
  async run({ host, port, banner }: Params, call: SkillCall) {
    const target = await rules.target(host, port);
    return {
      result: {
        address: target.address,
        port,
        ...(await dial(target, port, banner, call, clock, after)),
      },
    };
  },
});

function dial(
  { address, family }: Address,
  port: number,
  banner: boolean,
  { signal }: SkillCall,
  clock: Clock,
  after: After,
): Promise<Outcome> {
  const from = clock.monotonic();
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, family });
    let [connectMs, heard, cancel] = [0, Buffer.alloc(0), (): void => undefined];
    const stop = (): void => void socket.destroy(signal.reason as Error);
    const settle = (outcome: Outcome): void => {
      cancel();
      socket.destroy();
      resolve(outcome);
    };
    const open = (): void =>
      settle({
        connected: true,
        error: null,
        connect_ms: connectMs,
        banner: banner ? plainText(heard.toString('utf8')) : null,
      });
    signal.addEventListener('abort', stop, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', stop));
    socket.once('connect', () => {
      connectMs = Math.round(clock.monotonic() - from);
      if (!banner) {
        open();
        return;
      }
      cancel = after(bannerMs, open);
      socket.once('end', open);
      socket.on('data', (chunk: Buffer) => {
        heard = Buffer.concat([heard, chunk]).subarray(0, maxBanner);
        if (heard.includes(10) || heard.length >= maxBanner) {
          open();
        }
      });
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      cancel();
      if (signal.aborted) {
        reject(error);
      } else {
        resolve({
          connected: false,
          error: error.code ?? error.message,
          connect_ms: Math.round(clock.monotonic() - from),
          banner: null,
        });
      }
    });
    if (signal.aborted) {
      stop();
    }
  });
}
