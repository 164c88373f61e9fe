import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import type { LocalPolicy } from 'svc/contracts/edge-uplink';

import type { MachinePrograms } from '../../reach/machine-programs.ts';
import { errors as edgeSkillsErrors } from '../errors.ts';
import { plainText } from '../fit-rows.ts';

const maxOutput = 16 * 1024;
const shown = ['ActiveState', 'SubState', 'MainPID', 'Result'];

export const serviceRestart = (programs: MachinePrograms, policy: LocalPolicy): EdgeSkill => ({
  key: 'service_restart',
  name: 'Restart a service',
  description:
    "Restarts one of the services listed by the machine's owner, and reports its state afterwards.",
  class: 'mutating',
  tier: 'core',
  maxMs: 120_000,
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['service'],
    properties: {
      service: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9@_.:-]{0,199}$',
        description: 'Name of the systemd unit; .service may be omitted.',
      },
    },
  },
  async run({ service }: { service: string }, { signal, timeoutMs }: SkillCall) {
    const unit = unitOf(service);
    if (!policy.current().skills.services.some((name) => unitOf(name) === unit)) {
      throw edgeSkillsErrors.restart_not_allowed({ unit });
    }
    const systemctl = programs.find('systemctl');
    if (systemctl === undefined) {
      throw edgeSkillsErrors.no_systemctl();
    }
    const run = (args: readonly string[]) =>
      programs.run(systemctl, args, { timeoutMs, maxBytes: maxOutput, signal });
    const { code, errors, cut } = await run(['restart', '--no-ask-password', '--', unit]);
    if (code !== 0) {
      const why =
        cut === 'time'
          ? 'took too long'
          : `failed with code ${code}: ${plainText(errors).trim().slice(0, 500)}`;
      throw edgeSkillsErrors.restart_failed({ unit, why });
    }
    const { output } = await run([
      'show',
      '--no-pager',
      `--property=${shown.join(',')}`,
      '--',
      unit,
    ]);
    const properties = new Map(
      Buffer.from(output)
        .toString('utf8')
        .split('\n')
        .map((line) => [line.split('=', 1)[0]!, plainText(line.slice(line.indexOf('=') + 1))]),
    );
    return {
      result: {
        service: unit,
        restarted: true,
        active_state: properties.get('ActiveState') ?? null,
        sub_state: properties.get('SubState') ?? null,
        main_pid: Number(properties.get('MainPID')) || null,
        last_result: properties.get('Result') ?? null,
      },
    };
  },
});

const unitOf = (name: string): string => (/\.[a-z]+$/.test(name) ? name : `${name}.service`);
