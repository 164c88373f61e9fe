import { type ApiClient, clientOf, type Reachable } from 'svc/cli';

const login = { email: 'engineer@bench.example', password: 'the bench asks and signs' };

/** Signs in a person who asks and who signs changes, which the operator of a data folder cannot. */
export async function signInPerson(client: ApiClient, { url }: Reachable): Promise<ApiClient> {
  await client.post('/api/v1/users', { ...login, display_name: 'Engineer', role: 'admin' });
  const { access_token: token } = await client.post<{ access_token: string }>(
    '/api/v1/auth/login',
    login,
  );
  return clientOf({ url, token }, 'svc-bench');
}
