import type { LabelRecord } from 'svc/contracts/metricsdb';
import { idLabel, nameLabel } from 'svc/query';

import { inPromql } from '../variables/value-source.ts';

/** Name of the device with this id; undefined if there is none. */
export type NameOfDevice = (id: string) => string | undefined;

/**
 * `{{device}} {{mountpoint}}` with the labels of one series; without a legend, the series as PromQL
 * writes it. `device` is the name of its device, unless the series has that label itself.
 */
export function nameOf(labels: LabelRecord, legend: string, device: NameOfDevice): string {
  const known = named(labels, device);
  if (legend === '') {
    const isKnown = known !== labels && device(labels[idLabel]!) !== undefined;
    return written(isKnown ? without(known, idLabel) : labels);
  }
  return legend.replaceAll(/\{\{\s*([^{}]*[^{}\s])\s*\}\}/g, (_whole, name: string) =>
    Object.hasOwn(known, name) ? known[name]! : '',
  );
}

function named(labels: LabelRecord, device: NameOfDevice): LabelRecord {
  const id = Object.hasOwn(labels, idLabel) ? labels[idLabel]! : '';
  return id === '' || Object.hasOwn(labels, nameLabel)
    ? labels
    : { ...labels, [nameLabel]: device(id) ?? `device ${id}` };
}

const without = (labels: LabelRecord, name: string): LabelRecord =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => label !== name));

/** Writes a series as PromQL does. */
export function written(labels: LabelRecord): string {
  const pairs = Object.keys(labels)
    .filter((name) => name !== '__name__')
    .sort()
    .map((name) => `${inPromql(name)}=${JSON.stringify(labels[name])}`);
  const metric = Object.hasOwn(labels, '__name__') ? labels['__name__']! : '';
  if (!/^[\w:]*$/.test(metric)) {
    return `{${[JSON.stringify(metric), ...pairs].join(', ')}}`;
  }
  return pairs.length > 0 || metric === '' ? `${metric}{${pairs.join(', ')}}` : metric;
}
