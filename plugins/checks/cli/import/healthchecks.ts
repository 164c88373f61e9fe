import { Collection, type Fields, listOf, numberOf, type Taken, textOf, within } from './taken.ts';

const [leastPeriod, mostPeriod] = [30, 31_622_400];
const [leastGrace, mostGrace] = [10, 604_800];

/** Takes the checks that the API of healthchecks.io lists. */
export function fromHealthchecks(file: Fields): Taken {
  const collection = new Collection();
  for (const check of listOf(file['checks'])) {
    const name = textOf(check['name']) ?? textOf(check['slug']) ?? 'job';
    const [cron, period] = [textOf(check['schedule']), numberOf(check['timeout'])];
    const grace = within(numberOf(check['grace']) ?? 300, leastGrace, mostGrace);
    if (cron !== undefined && cron.trim().split(/\s+/).length === 5) {
      collection.heartbeat(name, { cron, time_zone: textOf(check['tz']) ?? 'UTC', grace_s: grace });
    } else if (cron === undefined && period !== undefined) {
      collection.heartbeat(name, {
        period_s: within(period, leastPeriod, mostPeriod),
        grace_s: grace,
      });
    } else {
      collection.leave(name, 'its schedule is no cron expression of five fields');
    }
  }
  return collection.taken;
}
