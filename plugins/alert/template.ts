import { isSvcError, messageOf, SvcError } from 'svc/sdk';
import { compileTemplate, type Template, type TemplateFunction } from 'svc/template';

import type { RenderAnnotations, Snapshot } from './rule.ts';
import { templateFunctions } from './template-functions.ts';

const limits = { output: 16 * 1024, steps: 20_000 };
const variables = ['labels', 'value', 'threshold', 'eta', 'externalLabels', 'externalURL'] as const;

/** What besides the alert itself a template may show. */
export interface Surroundings {
  readonly externalLabels: Readonly<Record<string, string>>;
  readonly externalUrl: string;
}

export const nowhere: Surroundings = { externalLabels: {}, externalUrl: '' };

/** Throws invalid_argument with line and column: an unknown function, say, is none that could become known later. */
export function compileAnnotation(text: string, surroundings: Surroundings = nowhere): Template {
  return compileTemplate(text, { functions: functionsFor(surroundings), variables, limits });
}

const usual = templateFunctions('');
const functionsFor = ({ externalUrl }: Surroundings): ReadonlyMap<string, TemplateFunction> => (externalUrl === '' ? usual : templateFunctions(externalUrl));

export function assertAnnotations(annotations: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(annotations)) {
    try {
      compileAnnotation(text);
    } catch (error) {
      const message = isSvcError(error) ? error.message : messageOf(error);
      throw new SvcError('invalid_argument', `annotations.${name}: ${message}`, { details: [{ path: `/annotations/${name}`, message }], cause: error });
    }
  }
}

/** Compiled templates of rules that fire often, by their text. */
const mostCompiled = 2_000;

/** Renders the annotations of rules; a template is compiled once. */
export function annotationRenderer(surroundings: Surroundings = nowhere): RenderAnnotations {
  const compiled = new Map<string, Template>();
  const templateOf = (text: string): Template => {
    const known = compiled.get(text);
    if (known !== undefined) {
      return known;
    }
    const made = compileAnnotation(text, surroundings);
    if (compiled.size >= mostCompiled) {
      compiled.delete(compiled.keys().next().value!);
    }
    compiled.set(text, made);
    return made;
  };
  return (rule, snapshot) => {
    const rendered = Object.entries(rule.annotations).map(([name, text]) => [name, renderOne(() => templateOf(text), snapshot, surroundings)] as const);
    return Object.fromEntries(rendered);
  };
}

function renderOne(template: () => Template, snapshot: Snapshot, surroundings: Surroundings): string {
  try {
    return renderText(template(), snapshot, surroundings);
  } catch (error) {
    return `<error expanding template: ${messageOf(error)}>`;
  }
}

/** The incident's fields by their own names and under `.incident`; labels and value also as Prometheus names them. */
export function renderText(template: Template, snapshot: Snapshot, { externalLabels, externalUrl }: Surroundings): string {
  const labels = new Map(Object.entries(snapshot.labels));
  const incident = { ...snapshot, labels };
  const external = new Map(Object.entries(externalLabels));
  const data = { ...incident, incident, Labels: labels, Value: snapshot.value, ExternalLabels: external, ExternalURL: externalUrl };
  return template.render(data, {
    labels,
    value: snapshot.value,
    threshold: snapshot.threshold,
    eta: snapshot.eta,
    externalLabels: external,
    externalURL: externalUrl,
  });
}
