import type { ReactNode } from 'react';

/** A button that does nothing while it is held, and keeps the focus: one that is disabled loses it. */
export const Press = ({
  isHeld,
  isDisabled = false,
  className,
  onPress,
  children,
}: {
  readonly isHeld: boolean;
  /** Where nothing can be done with it yet. */
  readonly isDisabled?: boolean;
  readonly className?: string;
  readonly onPress: () => void;
  readonly children: ReactNode;
}): ReactNode => (
  <button
    type="button"
    className={className}
    disabled={isDisabled}
    aria-disabled={isHeld || undefined}
    onClick={() => {
      if (!isHeld) onPress();
    }}
  >
    {children}
  </button>
);
