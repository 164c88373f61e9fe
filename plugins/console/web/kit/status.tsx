import type { ComponentChildren } from 'preact';

import { status as text } from '../text/english/kit.ts';

export type Tone = 'critical' | 'warning' | 'info' | 'ok' | 'muted';

/**
 * Mark with a distinct shape for each tone, recognizable without colour: a diamond, a triangle, a
 * ring, a dot, a dash.
 */
export function Mark({ tone, label }: { readonly tone: Tone; readonly label?: string }) {
  return (
    <svg
      class={`mark ${tone}`}
      width="12"
      height="12"
      viewBox="0 0 12 12"
      role={label === undefined ? undefined : 'img'}
      aria-label={label}
      aria-hidden={label === undefined ? 'true' : undefined}
    >
      {tone === 'critical' && <path d="M6 .8 11.200 6 6 11.200.8 6Z" fill="currentColor" />}
      {tone === 'warning' && <path d="M6 1.200 11.500 10.800H.5Z" fill="currentColor" />}
      {tone === 'info' && (
        <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" stroke-width="2" />
      )}
      {tone === 'ok' && <circle cx="6" cy="6" r="4" fill="currentColor" />}
      {tone === 'muted' && <rect x="2" y="5" width="8" height="2" fill="currentColor" />}
    </svg>
  );
}

/** A mark with what it says. */
export function Status({
  tone,
  children,
}: {
  readonly tone: Tone;
  readonly children: ComponentChildren;
}) {
  return (
    <span class="status">
      <Mark tone={tone} />
      <span>{children}</span>
    </span>
  );
}

export type Severity = 'critical' | 'warning' | 'info';
export type IncidentStatus = 'open' | 'acknowledged' | 'silenced' | 'resolved';

export const severityName = (severity: Severity): string => text[severity];
export const statusName = (status: IncidentStatus): string => text[status];

/**
 * Returns the tone; resolved or muted incidents no longer call for attention, however severe they
 * were.
 */
export const toneOf = (severity: Severity, status: IncidentStatus): Tone =>
  status === 'resolved' ? 'ok' : status === 'silenced' ? 'muted' : severity;

/** A short word in a frame of its tone. */
export function Tag({
  tone = 'muted',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) {
  return <span class={`tag tag-${tone}`}>{children}</span>;
}
