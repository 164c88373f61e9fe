import { Resolver } from 'node:dns/promises';

import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import type { Clock } from 'svc/sdk';

import type { ProbeRules } from '../../reach/probe-rules.ts';
import { errors } from '../errors.ts';
import { fitRows } from '../fit-rows.ts';
import { hostSchema, portSchema } from './host-schema.ts';

interface Params {
  readonly name: string;
  readonly type: string;
  readonly server?: string;
  readonly server_port: number;
}

const [usualPort, maxRecords] = [53, 200];

export const dnsProbe = (rules: ProbeRules, clock: Clock): EdgeSkill => ({
  key: 'dns_probe',
  name: 'DNS lookup',
  description: "Queries this machine's name servers, or one you specify, for DNS records.",
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      name: {
        type: 'string',
        pattern: '^[A-Za-z0-9_.:-]{1,253}$',
        description: 'Name to look up; an address for PTR.',
      },
      type: {
        enum: ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'],
        default: 'A',
      },
      server: hostSchema,
      server_port: { ...portSchema, default: usualPort },
    },
  },
  async run({ name, type, server, server_port: port }: Params, { signal, timeoutMs }: SkillCall) {
    rules.requireAny();
    const resolver = new Resolver({ timeout: Math.min(timeoutMs, 5_000), tries: 2 });
    if (server !== undefined) {
      const { address, family } = await rules.target(server, port);
      resolver.setServers([`${family === 6 ? `[${address}]` : address}:${port}`]);
    }
    const servers = resolver.getServers();
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const from = clock.monotonic();
    try {
      signal.throwIfAborted();
      const records: unknown =
        type === 'PTR' ? await resolver.reverse(name) : await resolver.resolve(name, type);
      const rows = fitRows(
        (Array.isArray(records) ? (records as unknown[]) : [records]).slice(0, maxRecords),
      );
      return {
        result: {
          found: true,
          records: rows,
          error: null,
          servers,
          took_ms: Math.round(clock.monotonic() - from),
        },
      };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (signal.aborted || code === undefined) {
        throw error;
      }
      if (code === 'EINVAL' || code === 'EBADNAME') {
        throw errors.record_name({ name, type });
      }
      // That there is no answer is the result.
      return {
        result: {
          found: false,
          records: [],
          error: code,
          servers,
          took_ms: Math.round(clock.monotonic() - from),
        },
      };
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  },
});
