import type { EdgeSkill } from 'svc/contracts/edge-skills';
import { type MachineFiles, redactArguments } from 'svc/probe';

import type { AllowedViews } from '../../reach/allowed-views.ts';
import { fitRows, plainText } from '../fit-rows.ts';

interface Job {
  readonly file: string;
  readonly schedule: string;
  readonly user: string | null;
  readonly command: string;
}

const maxFile = 64 * 1024;
const maxFiles = 200;
const periods = ['hourly', 'daily', 'weekly', 'monthly'];
/** Folders of users' own tables, by distribution. */
const spools = ['/var/spool/cron/crontabs', '/var/spool/cron'];
const longestCommand = 500;

export const cronList = (files: MachineFiles, views: AllowedViews): EdgeSkill => ({
  key: 'cron_list',
  name: 'Cron jobs',
  description:
    'Cron jobs: the system crontabs, the user crontabs that the agent may read, and the scripts that run hourly, daily, weekly and monthly. Secrets in commands are hidden. For systemd timers, use units_list with type timer.',
  class: 'safe',
  tier: 'specialty',
  schema: { type: 'object', additionalProperties: false, properties: {} },
  async run() {
    views.requireView('cron');
    const tables = [
      '/etc/crontab',
      ...(files.names('/etc/cron.d') ?? []).map((name) => `/etc/cron.d/${name}`),
    ].filter((file) => !/\/\.|\.(?:dpkg|rpm)\w*$/.test(file));
    const jobs = tables
      .slice(0, maxFiles)
      .flatMap((file) => jobsIn(file, files.text(file, maxFile) ?? '', true));
    const spool = spools.find((folder) => files.names(folder) !== undefined);
    const owners = spool === undefined ? [] : (files.names(spool) ?? []);
    const own = owners
      .slice(0, maxFiles)
      .flatMap((user) =>
        jobsIn(`${spool}/${user}`, files.text(`${spool}/${user}`, maxFile) ?? '', false),
      )
      .map((job) => ({ ...job, user: job.file.slice(job.file.lastIndexOf('/') + 1) }));
    const scripts = Object.fromEntries(
      periods.map((period) => [
        period,
        (files.names(`/etc/cron.${period}`) ?? [])
          .filter((name) => !name.startsWith('.'))
          .slice(0, 100),
      ]),
    );
    return {
      result: {
        jobs: fitRows([...jobs, ...own]),
        scripts,
        ...(spool === undefined && {
          note: 'The tables of users cannot be read by the agent, if there are any.',
        }),
      },
    };
  },
});

/** `m h dom mon dow [user] command`, or `@daily [user] command`; a line that sets a variable is none. */
function jobsIn(file: string, text: string, hasUser: boolean): Job[] {
  return text.split('\n').flatMap((line) => {
    const [, schedule, rest] =
      /^\s*(@\w+|(?:[\d*][^\s=]*\s+){4}[\w*][^\s=]*)\s+(\S.*)$/.exec(line) ?? [];
    if (schedule === undefined || rest === undefined) {
      return [];
    }
    const [, user = null, command = rest] = (hasUser && /^(\S+)\s+(.*)$/.exec(rest)) || [];
    // One string, as cron gives it to a shell: read by its words, a secret is known by its option.
    const safe = redactArguments(['sh', '-c', command]).slice(2).join(' ');
    return [
      {
        file,
        schedule: schedule.replaceAll(/\s+/g, ' '),
        user,
        command: plainText(safe).slice(0, longestCommand),
      },
    ];
  });
}
