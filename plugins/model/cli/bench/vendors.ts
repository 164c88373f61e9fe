import { type Environment, usageFailure } from 'svc/cli';

/** Addresses of the providers that svc knows, as far as a recorder can stand before them. */
const addresses: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  deepseek: 'https://api.deepseek.com/v1',
  mistral: 'https://api.mistral.ai/v1',
  xai: 'https://api.x.ai/v1',
  openrouter: 'https://openrouter.ai/api/v1',
};

/** Returns the address of a model's provider: the one that the environment names, or the vendor's. */
export function vendorUrl(model: string, environment: Environment): string {
  const provider = model.split('/', 1)[0]!;
  const own = environment[`SVC_LLM_${provider.toUpperCase()}_BASE_URL`];
  const url = own === undefined || own === '' ? addresses[provider] : own;
  if (url === undefined) {
    throw usageFailure(
      `--record needs the address of ${provider}: set SVC_LLM_${provider.toUpperCase()}_BASE_URL`,
    );
  }
  return url;
}
