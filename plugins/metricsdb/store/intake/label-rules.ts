import type { Labels } from 'svc/query';
import { metricName } from 'svc/query';

export interface LabelLimits {
  readonly maxNameBytes: number;
  readonly maxValueBytes: number;
  readonly maxLabels: number;
}

export const labelLimits: LabelLimits = {
  maxNameBytes: 1_024,
  maxValueBytes: 2_048,
  maxLabels: 64,
};

/** Matches lone surrogates, which readers substitute for bytes that are not valid text. */
const noText = /\p{Surrogate}/u;

/** Why a series cannot be taken, or none. Any text can name metrics and labels. Labels are sorted and hold no empty value. */
export function labelProblem(
  labels: Labels,
  limits: LabelLimits = labelLimits,
): string | undefined {
  let named = false;
  for (let i = 0; i < labels.length; i += 2) {
    const name = labels[i]!;
    const value = labels[i + 1]!;
    if (name === '') {
      return 'a label has an empty name';
    }
    if (i >= 2 && labels[i - 2] === name) {
      return `label "${shown(name)}" is repeated`;
    }
    if (noText.test(name) || noText.test(value)) {
      return `label "${shown(name)}" is not valid UTF-8`;
    }
    if (name.length > limits.maxNameBytes || Buffer.byteLength(name) > limits.maxNameBytes) {
      return `label name "${shown(name)}" is longer than ${limits.maxNameBytes} bytes`;
    }
    if (value.length > limits.maxValueBytes || Buffer.byteLength(value) > limits.maxValueBytes) {
      return `the value of label "${shown(name)}" is longer than ${limits.maxValueBytes} bytes`;
    }
    named ||= name === metricName;
  }
  if (!named) {
    return 'a series has no metric name';
  }
  return labels.length > limits.maxLabels * 2
    ? `a series has ${labels.length / 2} labels; at most ${limits.maxLabels} are taken`
    : undefined;
}

/** Formats a series as a selector, shortened for people. */
export function seriesText(labels: Labels): string {
  const rest: string[] = [];
  let name = '';
  for (let i = 0; i < labels.length; i += 2) {
    if (labels[i] === metricName) {
      name = labels[i + 1]!;
    } else {
      rest.push(`${labels[i]!}=${JSON.stringify(labels[i + 1])}`);
    }
  }
  return shown(`${name}{${rest.join(', ')}}`, 300);
}

function shown(text: string, most = 80): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
