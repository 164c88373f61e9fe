import type { MessageEntry, NoticeIncident } from 'svc/contracts/notify';
import { isSvcError, messageOf } from 'svc/sdk';
import { compileTemplate, display, templateFunction } from 'svc/template';

import { errors } from './errors.ts';

export interface TemplateData extends MessageEntry {
  readonly title: string;
  readonly link: string;
}

/** Limits of a template; more than any platform accepts in one message. */
const limits = { output: 32 * 1024, steps: 20_000 };

const text = (value: unknown): string =>
  typeof value === 'number' ? String(value) : display(value ?? undefined);

const functions = new Map([
  ['toUpper', templateFunction(1, 1, ([value]) => text(value).toUpperCase())],
  ['toLower', templateFunction(1, 1, ([value]) => text(value).toLowerCase())],
  ['trim', templateFunction(1, 1, ([value]) => text(value).trim())],
]);

/** Throws invalid_argument, with line and column, for a text that is no template or fails on an incident such as any. */
export function checkTemplate(source: string): void {
  const template = compile(source);
  for (const kind of ['firing', 'resolved'] as const) {
    template.render(
      dataOf({ kind, incident: sample, title: 'title', link: 'https://svc.invalid/' }),
      variablesOf(sample),
    );
  }
}

/** Renders the channel's own template; returns the text, or why it failed. */
export function renderTemplate(
  source: string,
  data: TemplateData,
): { readonly text: string } | { readonly error: string } {
  try {
    return { text: compile(source).render(dataOf(data), variablesOf(data.incident)) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

function compile(source: string): ReturnType<typeof compileTemplate> {
  try {
    return compileTemplate(source, {
      functions,
      variables: ['labels', 'annotations', 'value'],
      limits,
    });
  } catch (error) {
    const message = isSvcError(error)
      ? error.message
      : `is not a valid template: ${messageOf(error)}`;
    throw errors.invalid_template(
      { message },
      { details: [{ path: '/template', message }], cause: error },
    );
  }
}

const variablesOf = ({ labels, annotations, value }: NoticeIncident): Record<string, unknown> => ({
  labels,
  annotations,
  value,
});

/** The fields of the incident by their names, and what the message is about. */
const dataOf = ({ kind, incident, title, link }: TemplateData): object => ({
  ...incident,
  kind,
  title,
  link,
  incident,
  firing: kind !== 'resolved',
});

const sample: NoticeIncident = {
  id: 1,
  rule_key: 'cpu_high',
  rule_name: 'CPU is busy',
  severity: 'warning',
  status: 'open',
  scope_type: 'host',
  scope_id: '1',
  device_id: '1',
  summary: 'CPU is busy',
  labels: { device_id: '1' },
  annotations: { summary: 'CPU is busy' },
  runbook_url: 'https://svc.invalid/runbook',
  dedupe_key: 'cpu_high:host:1',
  value: 93.5,
  threshold: 90,
  fired_at: '2026-01-01T00:00:00.000Z',
  resolved_at: '2026-01-01T00:05:00.000Z',
  event_count: 1,
};
