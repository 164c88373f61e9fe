import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';

import type { MachinePrograms } from '../../reach/machine-programs.ts';
import type { ProbeRules } from '../../reach/probe-rules.ts';
import { errors as edgeSkillsErrors } from '../errors.ts';
import { plainText } from '../fit-rows.ts';
import { hostSchema } from './host-schema.ts';

const maxOutput = 16 * 1024;

export const ping = (programs: MachinePrograms, rules: ProbeRules): EdgeSkill => ({
  key: 'ping',
  name: 'Ping',
  description: 'Whether a host answers ICMP echo requests from this machine, and how quickly.',
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['host'],
    properties: {
      host: hostSchema,
      count: { type: 'integer', minimum: 1, maximum: 10, default: 3 },
    },
  },
  async run({ host, count }: { host: string; count: number }, { signal, timeoutMs }: SkillCall) {
    const { address, family } = await rules.target(host, undefined);
    const program = programs.find('ping');
    if (program === undefined) {
      throw edgeSkillsErrors.no_ping();
    }
    // After every option and verified to be an address, so it cannot be an option.
    const args = [`-${family}`, '-n', '-c', String(count), '-W', '2', address];
    const { code, output, errors, cut } = await programs.run(program, args, {
      timeoutMs,
      maxBytes: maxOutput,
      signal,
    });
    const text = plainText(Buffer.from(output).toString('utf8'));
    const [, sent, received] =
      /(\d+) packets transmitted, (\d+) (?:packets )?received/.exec(text) ?? [];
    if (sent === undefined) {
      const why =
        cut === 'time'
          ? 'took too long'
          : `failed with code ${code}: ${plainText(errors || text)
              .trim()
              .slice(0, 500)}`;
      throw edgeSkillsErrors.ping_failed({ why });
    }
    const [, least, mean, most] = /= ([\d.]+)\/([\d.]+)\/([\d.]+)/.exec(text) ?? [];
    const ms = (value: string | undefined): number | null =>
      value === undefined ? null : Number(value);
    return {
      result: {
        address,
        sent: Number(sent),
        received: Number(received),
        min_ms: ms(least),
        avg_ms: ms(mean),
        max_ms: ms(most),
      },
    };
  },
});
