import { connect } from '../../serve/connect.ts';
import { Failure, type RunningSvc } from 'svc/cli';
import { type Examination, type Finding, notTried } from './finding.ts';

const thoroughMs = 310_000;

/** Returns the findings of a running svc's areas: stores, edges, models. */
export const areas =
  (running: RunningSvc | undefined, thorough: boolean): Examination =>
  async (subject) => {
    if (running === undefined) {
      return notTried(subject, 'svc is not running');
    }
    const looked = await connect(running)
      .get<{ items: readonly Finding[] }>(`/api/v1/doctor?thorough=${thorough}`, thoroughMs)
      .catch((error: unknown) => {
        if (error instanceof Failure && error.code === 'not_found') {
          return undefined;
        }
        throw error;
      });
    return looked === undefined
      ? notTried(subject, 'the doctor plugin is not available')
      : looked.items.map((item) => ({
          subject: item.subject,
          verdict: item.verdict,
          detail: item.detail,
          fix: item.fix,
        }));
  };
