import type { ComponentChildren, TargetedMouseEvent } from 'preact';
import { useState } from 'preact/hooks';

import type { ApiError } from '../client/api.ts';
import { parts as text } from '../text/english/kit.ts';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly onClick?: (event: TargetedMouseEvent<HTMLButtonElement>) => void;
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly icon?: IconName;
  /** Said instead of a text, for a button that shows its icon alone. */
  readonly label?: string;
  readonly disabled?: boolean;
  readonly type?: 'button' | 'submit';
  readonly pressed?: boolean;
  readonly keys?: string;
}

export function Button({
  children,
  onClick,
  kind = 'plain',
  icon,
  label,
  disabled,
  type = 'button',
  pressed,
  keys,
}: ButtonProps) {
  return (
    <button
      type={type}
      class={`button button-${kind}`}
      onClick={onClick}
      disabled={disabled}
      aria-label={label}
      title={label}
      aria-pressed={pressed}
    >
      {icon && <Icon name={icon} />}
      {children}
      {keys && <kbd>{keys}</kbd>}
    </button>
  );
}

/** Lines where text will stand, as long as it is not known. */
export function Skeleton({
  lines = 3,
  height,
}: {
  readonly lines?: number;
  readonly height?: number;
}) {
  return (
    <div class="skeleton" role="status" aria-label={text.loading}>
      {height === undefined ? (
        Array.from({ length: lines }, (_, at) => (
          <i key={at} style={{ width: `${[92, 78, 85, 64][at % 4]}%` }} />
        ))
      ) : (
        <i style={{ height: `${height}px`, width: '100%' }} />
      )}
    </div>
  );
}

/** Empty state, with the next step. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p>{title}</p>
      {children && <div class="soft">{children}</div>}
    </div>
  );
}

/** Error answer of svc, in its words. */
export function Refused({
  error,
  retry,
}: {
  readonly error: ApiError;
  readonly retry?: () => void;
}) {
  return (
    <div class="refused" role="alert">
      <p>{error.status === 403 ? text.notAllowed : error.message}</p>
      {error.status === 403 && <p class="soft">{error.message}</p>}
      {error.status !== 403 && retry && (
        <Button kind="quiet" onClick={retry}>
          {text.retry}
        </Button>
      )}
    </div>
  );
}

/** Placeholder for content that is loading or failed to load. */
export const Awaited = ({
  error,
  lines,
}: {
  readonly error: ApiError | undefined;
  readonly lines: number;
}) => (error === undefined ? <Skeleton lines={lines} /> : <Refused error={error} />);

/** A part of a page under its heading; a line above it, no box around it. */
export function Section({
  title,
  aside,
  children,
  id,
}: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly id?: string;
}) {
  return (
    <section class="section" id={id}>
      <header>
        <h2>{title}</h2>
        {aside && <div class="aside">{aside}</div>}
      </header>
      {children}
    </section>
  );
}

/** The head of a page: what it shows, and what can be done with it. */
export function Head({
  title,
  note,
  children,
}: {
  readonly title: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <header class="head">
      <div>
        <h1>{title}</h1>
        {note && <p class="soft">{note}</p>}
      </div>
      {children && <div class="actions">{children}</div>}
    </header>
  );
}

/** Names and values in two columns; what has no value is left out. */
export function Fields({
  of,
}: {
  readonly of: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="fields">
      {of
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A text to be copied, such as a command. */
export function Copyable({ value }: { readonly value: string }) {
  const [done, setDone] = useState(false);
  const copy = (): void => {
    void copyText(value).then((copied) => {
      setDone(copied);
      setTimeout(() => setDone(false), 2_000);
    });
  };
  return (
    <div class="copyable">
      <code>{value}</code>
      <Button kind="quiet" icon={done ? 'check' : 'copy'} onClick={copy}>
        {done ? text.copied : text.copy}
      </Button>
    </div>
  );
}

/** Copies a text via a selection: without TLS browsers offer scripts no clipboard. */
export async function copyText(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = value;
    document.body.append(field);
    field.select();
    const copied = document.execCommand('copy');
    field.remove();
    return copied;
  }
}

/** Several views of one thing; each has an address of its own. */
export function Tabs({
  tabs,
  active,
}: {
  readonly tabs: readonly {
    readonly id: string;
    readonly title: string;
    readonly href: string;
    readonly count?: number;
  }[];
  readonly active: string;
}) {
  return (
    <nav class="tabs">
      {tabs.map(({ id, title, href, count }) => (
        <a key={id} href={href} aria-current={id === active ? 'page' : undefined}>
          {title}
          {count !== undefined && count > 0 && <span class="soft"> {count.toLocaleString()}</span>}
        </a>
      ))}
    </nav>
  );
}
