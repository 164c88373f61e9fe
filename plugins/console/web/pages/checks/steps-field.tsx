import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';
import { CheckField, SelectField, TextField } from '../../kit/form.tsx';
import { Button } from '../../kit/parts.tsx';
import type { Step } from './check.ts';
import type { TypedStep } from './typed.ts';

/** Fields that each kind of step has, and the label of its value. */
const forms: Readonly<
  Record<
    Step['do'],
    { readonly hasSelector: boolean; readonly value?: 'url' | 'text' | 'key' | 'pattern' }
  >
> = {
  goto: { hasSelector: false, value: 'url' },
  click: { hasSelector: true },
  fill: { hasSelector: true, value: 'text' },
  press: { hasSelector: true, value: 'key' },
  wait_for_text: { hasSelector: false, value: 'text' },
  wait_for_selector: { hasSelector: true },
  expect_text: { hasSelector: false, value: 'text' },
  expect_url: { hasSelector: false, value: 'pattern' },
  expect_title: { hasSelector: false, value: 'pattern' },
};
const kinds = Object.keys(forms) as readonly Step['do'][];
const maxSteps = 30;
const first: TypedStep = { do: 'click', selector: '', value: '', isSecret: false, secret: '' };

interface StepsFieldProps {
  readonly steps: readonly TypedStep[];
  readonly onChange: (steps: readonly TypedStep[]) => void;
}

/** Steps that a browser takes, one below the other. */
export function StepsField({ steps, onChange }: StepsFieldProps) {
  const change = (index: number, step: TypedStep): void => onChange(steps.with(index, step));
  return (
    <fieldset class="steps-field">
      <legend>{text.steps}</legend>
      <p class="hint">{text.stepsHint}</p>
      <ol>
        {steps.map((step, index) => (
          <li key={index}>
            <StepFields step={step} number={index + 1} onChange={(now) => change(index, now)} />
            <Button
              kind="quiet"
              label={say(text.removeStep, { number: index + 1 })}
              onClick={() => onChange(steps.toSpliced(index, 1))}
            >
              {text.remove}
            </Button>
          </li>
        ))}
      </ol>
      {steps.length < maxSteps && (
        <Button kind="quiet" icon="plus" onClick={() => onChange([...steps, first])}>
          {text.addStep}
        </Button>
      )}
    </fieldset>
  );
}

interface StepFieldsProps {
  readonly step: TypedStep;
  readonly number: number;
  readonly onChange: (step: TypedStep) => void;
}

function StepFields({ step, number, onChange }: StepFieldsProps) {
  const { hasSelector, value } = forms[step.do];
  const set = (change: Partial<TypedStep>): void => onChange({ ...step, ...change });
  const isSecret = step.do === 'fill' && step.isSecret;
  return (
    <>
      <SelectField
        label={say(text.step, { number })}
        value={step.do}
        options={kinds.map((kind) => [kind, text[`do_${kind}`]] as const)}
        onChange={(kind) => onChange({ ...cleared(step, kind), do: kind })}
      />
      {hasSelector && (
        <TextField
          label={say(text.stepSelector, { number })}
          value={step.selector}
          onInput={(selector) => set({ selector })}
          required={step.do !== 'press'}
          mono
        />
      )}
      {value !== undefined && (
        <TextField
          label={say(text[`stepValue_${value}`], { number })}
          value={step.value}
          onInput={(typed) => set({ value: typed })}
          required={!isSecret || step.secret === ''}
          type={isSecret ? 'password' : 'text'}
          autoComplete={isSecret ? 'new-password' : 'off'}
          hint={isSecret && step.secret !== '' ? text.keptHint : undefined}
        />
      )}
      {step.do === 'fill' && (
        <CheckField
          label={say(text.stepSecret, { number })}
          value={step.isSecret}
          onChange={(now) => set({ isSecret: now, secret: '', value: '' })}
        />
      )}
    </>
  );
}

/** Takes off what the new kind of a step does not have. */
const cleared = (step: TypedStep, kind: Step['do']): TypedStep => ({
  ...step,
  selector: forms[kind].hasSelector ? step.selector : '',
  value: forms[kind].value === forms[step.do].value && !step.isSecret ? step.value : '',
  isSecret: false,
  secret: '',
});
