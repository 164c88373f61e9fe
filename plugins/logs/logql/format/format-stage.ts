import { isSvcError, messageOf } from 'svc/sdk';
import { compileTemplate, type Template } from 'svc/template';

import { isLabelName } from '../lines/label-name.ts';
import type { StageContext, StageRun } from '../lines/stage.ts';
import type { WorkingLine } from '../lines/working-line.ts';
import type { LabelFormat } from '../syntax/ast.ts';
import { formatFunctions } from './format-functions.ts';

export const templateErrorName = 'TemplateFormatErr';

/**
 * Renderer of templates over the labels of the current line; a failure becomes the line's error.
 */
class Formatter {
  #work: WorkingLine | undefined;
  readonly #labels = new Map<string, string>();
  readonly #functions;

  constructor(now: () => number) {
    this.#functions = formatFunctions(() => this.#work!, now);
  }

  compile(text: string, what: string): Template {
    try {
      return compileTemplate(text, { functions: this.#functions });
    } catch (error) {
      throw new Error(`invalid ${what} template: ${messageOf(error)}`, { cause: error });
    }
  }

  look(work: WorkingLine): void {
    this.#work = work;
    this.#labels.clear();
    work.each((name, value) => this.#labels.set(name, value));
    if (work.error !== '') {
      this.#labels.set('__error__', work.error);
      this.#labels.set('__error_details__', work.errorDetails);
    }
  }

  render(template: Template): string | undefined {
    if (template.constant !== undefined) {
      return template.constant;
    }
    try {
      return template.render(this.#labels);
    } catch (error) {
      if (!isSvcError(error)) {
        throw error;
      }
      this.#work!.fail(templateErrorName, error.message);
      return undefined;
    }
  }
}

export function lineFormat(text: string, { now }: StageContext): StageRun {
  const formatter = new Formatter(now);
  const template = formatter.compile(text, 'line');
  return (work) => {
    formatter.look(work);
    work.line = formatter.render(template) ?? work.line;
    return true;
  };
}

/** Renames and writes labels, one after another; templates see the labels as they were when the first of them was reached. */
export function labelFormat(formats: readonly LabelFormat[], { now }: StageContext): StageRun {
  const formatter = new Formatter(now);
  const seen = new Set<string>();
  for (const { name } of formats) {
    if (name.startsWith('__error') || !isLabelName(name)) {
      throw new Error(`${name} cannot be formatted`);
    }
    if (seen.has(name)) {
      throw new Error(`multiple label name '${name}' not allowed in a single format operation`);
    }
    seen.add(name);
  }
  const steps = formats.map(({ name, source, template }) => ({
    name,
    source,
    template: template === undefined ? undefined : formatter.compile(template, 'label'),
  }));
  return (work) => {
    let looked = false;
    for (const { name, source, template } of steps) {
      if (source !== undefined) {
        const value = work.get(source);
        if (value !== undefined && source !== name) {
          work.set(name, value);
          work.remove(source);
        }
        continue;
      }
      if (!looked) {
        formatter.look(work);
        looked = true;
      }
      const value = formatter.render(template!);
      if (value !== undefined) {
        work.set(name, value);
      }
    }
    return true;
  };
}
