/** Actions and expectations of the steps of a browser check, which opens its target before the first one. */
export const stepKinds = [
  'goto',
  'click',
  'fill',
  'press',
  'wait_for_text',
  'wait_for_selector',
  'expect_text',
  'expect_url',
  'expect_title',
] as const;
export type StepKind = (typeof stepKinds)[number];

export interface Step {
  readonly do: StepKind;
  /** CSS selector of the element that it is about. */
  readonly selector?: string;
  /** URL, text, key or pattern, as the kind of the step has it. */
  readonly value?: string;
  /** Name of the sealed value that is filled in instead of `value`. */
  readonly secret?: string;
}

/** Result of one step. */
export interface StepResult {
  /** The step in words, without secrets. */
  readonly step: string;
  readonly state: 'done' | 'failed' | 'not_reached';
  /** Null for a step that was not reached. */
  readonly took_ms: number | null;
}

export const maxSteps = 30;

/** Key that can be pressed, as the protocol of the browser describes it. */
export interface Key {
  readonly code: string;
  readonly windowsVirtualKeyCode: number;
  readonly text?: string;
}

export const keys: Readonly<Record<string, Key>> = {
  Enter: { code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
  Tab: { code: 'Tab', windowsVirtualKeyCode: 9 },
  Escape: { code: 'Escape', windowsVirtualKeyCode: 27 },
  Backspace: { code: 'Backspace', windowsVirtualKeyCode: 8 },
  Delete: { code: 'Delete', windowsVirtualKeyCode: 46 },
  ArrowUp: { code: 'ArrowUp', windowsVirtualKeyCode: 38 },
  ArrowDown: { code: 'ArrowDown', windowsVirtualKeyCode: 40 },
  ArrowLeft: { code: 'ArrowLeft', windowsVirtualKeyCode: 37 },
  ArrowRight: { code: 'ArrowRight', windowsVirtualKeyCode: 39 },
};

type Field = 'selector' | 'value' | 'secret';

/** Fields that each kind of step needs, and those that it may have. */
const forms: Readonly<
  Record<StepKind, { readonly needs: readonly Field[]; readonly may?: readonly Field[] }>
> = {
  goto: { needs: ['value'] },
  click: { needs: ['selector'] },
  fill: { needs: ['selector'], may: ['value', 'secret'] },
  press: { needs: ['value'], may: ['selector'] },
  wait_for_text: { needs: ['value'] },
  wait_for_selector: { needs: ['selector'] },
  expect_text: { needs: ['value'] },
  expect_url: { needs: ['value'] },
  expect_title: { needs: ['value'] },
};

/** Returns what is wrong with steps, and where; undefined if nothing is. */
export function stepsFault(
  steps: readonly Step[],
  secrets: Readonly<Record<string, string>>,
  isUrl: (text: string) => boolean,
): { readonly field: string; readonly message: string } | undefined {
  if (steps.length > maxSteps) {
    return { field: 'steps', message: `are more than ${maxSteps}` };
  }
  for (const [index, step] of steps.entries()) {
    const message = Object.hasOwn(forms, step.do)
      ? stepFault(step, secrets, isUrl)
      : `has a "do" that is not known; known: ${stepKinds.join(', ')}`;
    if (message !== undefined) {
      return { field: `steps/${index}`, message };
    }
  }
  const idle = Object.keys(secrets).find((name) => steps.every(({ secret }) => secret !== name));
  return idle === undefined
    ? undefined
    : { field: `secrets/${idle}`, message: 'is used by no step' };
}

function stepFault(
  step: Step,
  secrets: Readonly<Record<string, string>>,
  isUrl: (text: string) => boolean,
): string | undefined {
  const { needs, may = [] } = forms[step.do];
  const given = (['selector', 'value', 'secret'] as const).filter(
    (field) => step[field] !== undefined,
  );
  const absent = needs.find((field) => step[field] === undefined || step[field] === '');
  const foreign = given.find((field) => ![...needs, ...may].includes(field));
  if (absent !== undefined) {
    return `needs a ${absent} for ${step.do}`;
  }
  if (foreign !== undefined) {
    return `has a ${foreign}, which ${step.do} does not use`;
  }
  if (step.do === 'goto' && !isUrl(step.value!)) {
    return 'must go to an http:// or https:// URL without a user or password';
  }
  if (step.do === 'press' && !Object.hasOwn(keys, step.value!)) {
    return `presses a key that is not known; known: ${Object.keys(keys).join(', ')}`;
  }
  if (step.do !== 'fill') {
    return undefined;
  }
  if ((step.value === undefined) === (step.secret === undefined)) {
    return 'needs either a value or a secret for fill';
  }
  return step.secret === undefined || Object.hasOwn(secrets, step.secret)
    ? undefined
    : `names a secret that is not set: ${step.secret}`;
}
