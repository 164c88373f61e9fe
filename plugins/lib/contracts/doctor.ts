import { defineExtensionPoint, type MaybePromise } from 'svc/sdk';

/**
 * Diagnosis of one part of an area: what is wrong and why, and what to do about it; `fix` is null
 * if nothing has to be done.
 */
export interface Diagnosis {
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix: string | null;
}

export interface Looking {
  readonly signal: AbortSignal;
  /** Allows checks that cost money or minutes. */
  readonly thorough: boolean;
}

/** A look at one part of an area. It changes nothing; one that throws is a finding as well. */
export interface Examination {
  look(looking: Looking): MaybePromise<Diagnosis>;
}

/** Contributions are named by what is looked at, in words of people: `log store`. */
export const Examinations = defineExtensionPoint<Examination>('doctor.examinations', undefined, {
  methods: ['look'],
});
