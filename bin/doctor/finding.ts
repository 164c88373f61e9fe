import { messageOf } from '../../core/sdk/index.ts';

/** What the doctor says about one thing, and what to do about it. */
export interface Finding {
  readonly subject: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix: string | null;
}

/** Looks at one thing; returns what it found in order, and says with `warn` or `fail` what is not. */
export type Examination = (subject: string) => Finding | Promise<Finding>;

export const ok = (subject: string, detail: string): Finding => ({ subject, verdict: 'ok', detail, fix: null });
export const warn = (subject: string, detail: string, fix: string): Finding => ({ subject, verdict: 'warn', detail, fix });
export const fail = (subject: string, detail: string, fix: string): Finding => ({ subject, verdict: 'fail', detail, fix });

/** An examination that cannot be carried out is a finding, too; the others go on. */
export async function examined(subject: string, examination: Examination): Promise<Finding> {
  try {
    return await examination(subject);
  } catch (error) {
    return fail(subject, messageOf(error), 'do what the sentence says, then run "svc doctor" again');
  }
}
