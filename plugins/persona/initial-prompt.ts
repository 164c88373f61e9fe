import type { Persona, Principal } from 'svc/sdk';
import { compileTemplate, type Template } from 'svc/template';

const limits = { output: 32 * 1024, steps: 20_000 };

/** Checks the prompt; throws invalid_argument with line and column if the template is invalid. */
export const checkedPrompt = ({
  initial_prompt: text,
}: Pick<Persona, 'initial_prompt'>): Template => compileTemplate(text, { limits });

/**
 * Renders `initial_prompt` with the spawn context, and the spawning person as `user`; missing
 * values are empty.
 */
export function initialPrompt(
  persona: Pick<Persona, 'initial_prompt'>,
  context: Readonly<Record<string, unknown>>,
  principal: Principal,
): string {
  const user = principal.name ?? principal.email ?? principal.id;
  return checkedPrompt(persona).render(asGo({ user, ...context }));
}

/** Ids are whole numbers, which Go would not write as 1e+06. */
function asGo(value: unknown): unknown {
  if (typeof value === 'number' && Number.isSafeInteger(value)) {
    return BigInt(value);
  }
  if (Array.isArray(value)) {
    return value.map(asGo);
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asGo(inner)]))
    : value;
}
