import type { ComponentChildren, TargetedSubmitEvent } from 'preact';
import { useId, useState } from 'preact/hooks';

import type { ApiError } from '../client/api.ts';
import { asApiError } from '../client/data.ts';
import { form as text } from '../text/english/kit.ts';
import { Button } from './parts.tsx';

interface FieldProps {
  readonly label: string;
  /** Hint about the expected value, in a few words. */
  readonly hint?: ComponentChildren;
  readonly error?: string;
  readonly children: (props: {
    readonly id: string;
    readonly 'aria-describedby'?: string;
    readonly 'aria-invalid'?: boolean;
  }) => ComponentChildren;
}

/** A label, its control, and what is wrong with it right below. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': note === undefined ? undefined : `${id}-note`,
        'aria-invalid': error !== undefined || undefined,
      })}
      {note !== undefined && (
        <p id={`${id}-note`} class={error === undefined ? 'hint' : 'hint critical'}>
          {note}
        </p>
      )}
    </div>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly error?: string;
  readonly type?:
    | 'text'
    | 'email'
    | 'password'
    | 'number'
    | 'search'
    | 'url'
    | 'datetime-local'
    | 'time';
  readonly autoComplete?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly mono?: boolean;
  readonly rows?: number;
  readonly autoFocus?: boolean;
  /** Values that the browser suggests. */
  readonly list?: readonly string[];
}

interface TypedProps {
  readonly value: string;
  /** Called when the field is left or Enter is pressed. */
  readonly onChoose: (value: string) => void;
  readonly id?: string;
  readonly class?: string;
  readonly type?: 'text' | 'search';
  readonly list?: string;
  readonly placeholder?: string | undefined;
  readonly 'aria-label'?: string;
}

/** A field that counts once it is left. Answers arrive while somebody types: what is typed outlasts them. */
export function Typed({ value, onChoose, ...rest }: TypedProps) {
  const [draft, setDraft] = useState<string>();
  return (
    <input
      {...rest}
      autoComplete="off"
      spellcheck={false}
      value={draft ?? value}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onChange={(event) => {
        setDraft(undefined);
        onChoose(event.currentTarget.value);
      }}
    />
  );
}

/** Browsers obey `autofocus` once a document, and here one form follows another. */
const takeFocus = (element: HTMLElement | null): void => element?.focus();

export function TextField({
  label,
  value,
  onInput,
  hint,
  error,
  type = 'text',
  rows,
  mono,
  list,
  ...rest
}: TextProps) {
  const listId = useId();
  // Which of its kinds a field is decides over no other property that it has here.
  const kind = { type } as { readonly type: 'text' };
  const shared = {
    value,
    class: mono ? 'mono' : undefined,
    spellcheck: !mono,
    ...(rest.autoFocus && { ref: takeFocus }),
  };
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) =>
        rows === undefined ? (
          <>
            <input
              {...ids}
              {...shared}
              {...rest}
              {...kind}
              list={list && listId}
              onInput={(event) => onInput(event.currentTarget.value)}
            />
            {list && (
              <datalist id={listId}>
                {list.map((one) => (
                  <option key={one} value={one} />
                ))}
              </datalist>
            )}
          </>
        ) : (
          <textarea
            {...ids}
            {...shared}
            {...rest}
            rows={rows}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )
      }
    </Field>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, name: string])[];
  readonly onChange: (value: T) => void;
  readonly hint?: ComponentChildren;
  readonly error?: string;
}

export function SelectField<T extends string>({
  label,
  value,
  options,
  onChange,
  hint,
  error,
}: ChoiceProps<T>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <select
          {...ids}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value as T)}
        >
          {options.map(([option, name]) => (
            <option key={option} value={option} selected={option === value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({
  label,
  value,
  onChange,
  hint,
}: {
  readonly label: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
  readonly hint?: ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        checked={value}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  );
}

/** A few choices side by side, such as a filter. */
export function Segments<T extends string>({
  label,
  value,
  options,
  onChange,
}: Omit<ChoiceProps<T>, 'hint' | 'error'>) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map(([option, name]) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === value}
          onClick={() => onChange(option)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

interface FormProps {
  readonly children: ComponentChildren;
  readonly submit?: string;
  readonly kind?: 'primary' | 'danger';
  /** Rejects with an ApiError, which is shown; no other handling is needed. */
  readonly onSubmit: () => Promise<void>;
  readonly onCancel?: () => void;
  readonly disabled?: boolean;
}

/** Sends once at a time, and says what svc refused. */
export function Form({
  children,
  submit = text.save,
  kind = 'primary',
  onSubmit,
  onCancel,
  disabled,
}: FormProps) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const send = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (busy) {
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit();
    } catch (refused) {
      setError(asApiError(refused));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void send(event)} noValidate>
      {children}
      {error && (
        <div class="refused" role="alert">
          <p>{error.message}</p>
          {error.details.length > 1 && (
            <ul>
              {error.details.map(({ path, message }) => (
                <li key={path}>
                  {path} {message}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <div class="buttons">
        <Button type="submit" kind={kind} disabled={busy || disabled}>
          {submit}
        </Button>
        {onCancel && <Button onClick={onCancel}>{text.cancel}</Button>}
      </div>
    </form>
  );
}
