/** Proof Key for Code Exchange (RFC 7636): a secret that never leaves this tab until the code is exchanged. */

export interface Challenge {
  readonly verifier: string;
  readonly challenge: string;
}

export async function makeChallenge(): Promise<Challenge> {
  const verifier = randomText();
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return { verifier, challenge: base64url(new Uint8Array(digest)) };
}

/** 256 random bits, as text that an address may contain. */
export function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
