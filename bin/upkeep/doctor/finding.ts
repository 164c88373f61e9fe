import { messageOf } from '../../../core/sdk/index.ts';

/** Finding of the doctor on one subject, with the remedy. */
export interface Finding {
  readonly subject: string;
  readonly verdict: 'ok' | 'not tried' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix: string | null;
  /** Repair that svc can make itself, without any loss. */
  readonly repair?: Repair;
}

export interface Repair {
  /** Description for the list that is shown before. */
  readonly about: string;
  run(): void | Promise<void>;
}

/** Looks at one thing; returns what it found in order, and says with `warn` or `fail` what is not. */
export type Examination = (
  subject: string,
) => Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>;

export const ok = (subject: string, detail: string): Finding => ({
  subject,
  verdict: 'ok',
  detail,
  fix: null,
});
export const notTried = (subject: string, why: string): Finding => ({
  subject,
  verdict: 'not tried',
  detail: why,
  fix: null,
});
export const warn = (subject: string, detail: string, fix: string, repair?: Repair): Finding =>
  found('warn', subject, detail, fix, repair);
export const fail = (subject: string, detail: string, fix: string, repair?: Repair): Finding =>
  found('fail', subject, detail, fix, repair);

const found = (
  verdict: 'warn' | 'fail',
  subject: string,
  detail: string,
  fix: string,
  repair: Repair | undefined,
): Finding => ({
  subject,
  verdict,
  detail,
  fix,
  ...(repair !== undefined && { repair }),
});

/** An examination that cannot be carried out is a finding, too; the others go on. */
export async function examined(
  subject: string,
  examination: Examination,
): Promise<readonly Finding[]> {
  try {
    return [await examination(subject)].flat();
  } catch (error) {
    return [fail(subject, messageOf(error), 'fix the cause, then run "svc doctor" again')];
  }
}
