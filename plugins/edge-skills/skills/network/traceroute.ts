import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';

import type { MachinePrograms } from '../../reach/machine-programs.ts';
import type { ProbeRules } from '../../reach/probe-rules.ts';
import { errors } from '../errors.ts';
import { hostSchema } from './host-schema.ts';

interface Hop {
  readonly hop: number;
  /** Null where no router answered. */
  readonly address: string | null;
  readonly ms: number | null;
}

const maxOutput = 64 * 1024;

/** The programs that can do it, in the order in which they are tried; each answers with one line for a hop. */
const tracers = [
  {
    name: 'traceroute',
    args: (hops: number, v: number) => [`-${v}`, '-n', '-q', '1', '-w', '2', '-m', `${hops}`],
  },
  { name: 'tracepath', args: (hops: number, v: number) => [`-${v}`, '-n', '-m', `${hops}`] },
] as const;

export const traceroute = (programs: MachinePrograms, rules: ProbeRules): EdgeSkill => ({
  key: 'traceroute',
  name: 'Route to a host',
  description:
    'The routers between this machine and a host, with the round-trip time to each (traceroute or tracepath).',
  class: 'safe',
  tier: 'specialty',
  maxMs: 60_000,
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['host'],
    properties: {
      host: hostSchema,
      max_hops: { type: 'integer', minimum: 1, maximum: 30, default: 20 },
    },
  },
  async run({ host, max_hops: most }: { host: string; max_hops: number }, call: SkillCall) {
    const { address, family } = await rules.target(host, undefined);
    const tracer = tracers.find(({ name }) => programs.find(name) !== undefined);
    if (tracer === undefined) {
      throw errors.no_tracer();
    }
    const { text } = await programs.ask(tracer.name, 'traceroute', {
      // After every option and verified to be an address, so it cannot be an option.
      args: [...tracer.args(most, family), address],
      call,
      maxBytes: maxOutput,
      codes: [0, 1],
    });
    const hops = hopsIn(text);
    return {
      result: { address, program: tracer.name, reached: hops.at(-1)?.address === address, hops },
    };
  },
});

/** ` 2  192.0.2.1  0.512 ms`, ` 3  *`; tracepath writes ` 2:  192.0.2.1  0.512ms`, ` 3:  no reply`, some hops twice. */
function hopsIn(text: string): readonly Hop[] {
  const hops = new Map<number, Hop>();
  for (const line of text.split('\n')) {
    const [, number, rest] = /^\s*(\d{1,2})[:?]*\s+(.*)$/.exec(line) ?? [];
    if (number !== undefined && !rest!.startsWith('[LOCALHOST]')) {
      const hop = Number(number);
      const [address = null] = /[\da-fA-F]*[.:][\da-fA-F.:]+/.exec(rest!.split(/\s+/, 1)[0]!) ?? [];
      const [, ms] = /([\d.]+)\s*ms/.exec(rest!) ?? [];
      hops.set(hop, { hop, address, ms: ms === undefined ? null : Number(ms) });
    }
  }
  return [...hops.values()];
}
