/** Choices that this browser keeps. One without storage forgets them with the page. */

export function kept(key: string): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keep a choice; null: forget it. */
export function keep(key: string, choice: string | null): void {
  try {
    if (choice === null) window.localStorage.removeItem(key);
    else window.localStorage.setItem(key, choice);
  } catch {
    // The choice holds until the page is left.
  }
}
