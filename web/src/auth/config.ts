/** How users sign in here. The server of the page provides it; nothing of it is secret. */
import { CognitoSession } from './cognito';
import { LocalSession } from './local';
import type { Session } from './session';

export interface CognitoConfig {
  readonly auth: 'cognito';
  /** The managed login's address, without a slash at its end. */
  readonly domain: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
}

export type Config = { readonly auth: 'local' } | CognitoConfig;

export async function loadConfig(): Promise<Config> {
  const answer = await fetch('/config.json');
  if (!answer.ok) throw new Error(`/config.json answered ${answer.status}.`);
  return (await answer.json()) as Config;
}

export function sessionOf(config: Config): Session {
  return config.auth === 'local' ? new LocalSession() : new CognitoSession(config);
}
