import { matcher } from 'svc/query';

import type { LabelPick } from '../syntax/ast.ts';
import type { StageRun } from './stage.ts';

type Test = (value: string) => boolean;

const testOf = ({ name, op, value }: LabelPick): Test => (op === undefined ? () => true : matcher(name, op, value!).matches);

/** `| drop a, b="x"`: takes these labels away, some only when their value matches. */
export function dropLabels(picks: readonly LabelPick[]): StageRun {
  const tests = picks.map((pick) => [pick.name, testOf(pick)] as const);
  return (work) => {
    for (const [name, test] of tests) {
      const value = work.get(name);
      if (value !== undefined && test(value)) {
        work.remove(name);
        if (name === '__error__') {
          work.errorDetails = '';
        }
      }
    }
    return true;
  };
}

/** `| keep a, b="x"`: takes every other label away; errors stay. */
export function keepPicked(picks: readonly LabelPick[]): StageRun {
  const tests = new Map<string, Test[]>();
  for (const pick of picks) {
    tests.set(pick.name, [...(tests.get(pick.name) ?? []), testOf(pick)]);
  }
  return (work) => {
    work.keepOnly((name, value) => tests.get(name)?.some((test) => test(value)) ?? false);
    return true;
  };
}
