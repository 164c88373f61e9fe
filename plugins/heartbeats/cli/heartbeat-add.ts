import { type Command, clientOptions, openClient, usageFailure } from 'svc/cli';

export const command: Command = {
  operands: ['<name>'],
  options: {
    every: { value: 'seconds', about: 'interval at which the job reports' },
    cron: { value: 'expression', about: "when the job starts, such as '15 2 * * *'" },
    zone: { value: 'zone', about: 'time zone of the cron expression; default: UTC' },
    grace: {
      value: 'seconds',
      about: 'how late a report may be, and how long a run may take; default: 300',
    },
    ...clientOptions,
  },
  about:
    'Creates a heartbeat and prints the address that the job requests when it has succeeded. Append /start when it starts, /fail or its exit code when it ends.',
  example: "svc heartbeat add nightly-backup --cron '15 2 * * *' --zone Europe/Berlin",

  async run(call, shell) {
    const seconds = (option: string): number | undefined => {
      const text = call.value(option);
      if (text !== undefined && !/^\d{1,8}$/.test(text)) {
        throw usageFailure(`${text} is not a number of seconds`);
      }
      return text === undefined ? undefined : Number(text);
    };
    const [period, grace, cron, zone] = [
      seconds('every'),
      seconds('grace'),
      call.value('cron'),
      call.value('zone'),
    ];
    if ((period === undefined) === (cron === undefined)) {
      throw usageFailure('set either --every or --cron');
    }
    const client = await openClient(call, shell);
    const made = await client.post<{ readonly name: string; readonly url: string }>(
      '/api/v1/heartbeats',
      {
        name: call.operand(0),
        ...(period !== undefined && { period_s: period }),
        ...(cron !== undefined && { cron }),
        ...(zone !== undefined && { time_zone: zone }),
        ...(grace !== undefined && { grace_s: grace }),
      },
    );
    return {
      data: made,
      text: () =>
        [
          made.url,
          '',
          'Add it to the job; it is counted from the first report on:',
          `  curl -fsS -m 10 --retry 5 -o /dev/null ${made.url}/start`,
          '  your-command',
          `  curl -fsS -m 10 --retry 5 -o /dev/null ${made.url}/$?`,
        ].join('\n'),
    };
  },
};
