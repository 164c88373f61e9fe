import { connect } from '../../serve/connect.ts';
import { type RunningSvc, type PluginSummary } from 'svc/cli';
import { type Examination, fail, notTried, ok, warn } from './finding.ts';

/** States that somebody chose, or that are on their way to something. */
const calm: ReadonlySet<string> = new Set(['active', 'disabled', 'discovered', 'loading']);

export const plugins =
  (running: RunningSvc | undefined): Examination =>
  async (subject) => {
    if (!running) {
      return notTried(subject, 'svc is not running');
    }
    const client = connect(running);
    const all = await client.list<PluginSummary>('/api/v1/plugins');
    const troubled = all.filter(({ state }) => !calm.has(state));
    if (troubled.length === 0) {
      return ok(subject, `${all.filter(({ state }) => state === 'active').length} active`);
    }
    const detail = troubled
      .map(({ id, state, cause }) => `${id} is ${state}${cause === null ? '' : ` (${cause})`}`)
      .join('; ');
    const finding = troubled.every(({ state }) => state === 'blocked') ? warn : fail;
    const stopped = troubled
      .filter(({ state }) => state === 'failed' || state === 'quarantined')
      .map(({ id }) => id);
    const again = {
      about: `start ${stopped.join(', ')} again`,
      run: async () => {
        for (const id of stopped) {
          await client.post(`/api/v1/plugins/${encodeURIComponent(id)}/enable`);
        }
      },
    };
    return finding(
      subject,
      detail,
      `run "svc plugin why ${troubled[0]!.id}"`,
      stopped.length > 0 ? again : undefined,
    );
  };
