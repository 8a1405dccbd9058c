"""What the preview shows, as documents: sections of styled lines, made without a screen."""
