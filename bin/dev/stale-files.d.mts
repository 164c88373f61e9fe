export function staleFiles(
  root: string,
  record: string,
): { readonly files: string[] | undefined; clean(): void };
